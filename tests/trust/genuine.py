"""Answers that end with a call which the model means: what may stand before it, by kind.

`CALL` stands for the markup as a model writes it, `LINE` for the same in one line.
"""

from __future__ import annotations

__all__ = ["FORMATS", "GENUINE", "name_contexts"]

FORMATS = (
    *("hermes", "qwen3-coder", "glm-4.5", "kimi-k2", "deepseek-v3.1", "dsml-v3.2", "mistral-array", "mistral-v11"),
    *("llama3-json", "llama4-pythonic", "lfm2", "olmo3", "gemma4", "functiongemma", "minimax-m2", "seed-oss"),
    *("granite-array", "cohere-action", "apertus", "longcat", "anthropic-invoke", "function-tag-json"),
)
"""Formats with markers of their own, of each family of grammars."""

GENUINE: dict[str, dict[str, str]] = {
    "how a sentence ends": {
        "nothing before": "CALL",
        "full stop": "I look it up. LINE",
        "full stop, no blank": "I look it up.LINE",
        "full stop, new line": "I look it up.\nCALL",
        "full stop, blank line": "I look it up.\n\nCALL",
        "colon": "I run this: LINE",
        "colon, new line": "I run this:\nCALL",
        "exclamation mark": "Sure! LINE",
        "question mark": "What does the file say? LINE",
        "ellipsis": "Let me see… LINE",
        "three full stops": "Let me see...\nCALL",
        "comma": "First of all, LINE",
        "semicolon": "That is clear; LINE",
        "dash": "One moment — LINE",
        "hyphen": "One moment - LINE",
        "no punctuation": "I look it up now LINE",
        "no punctuation, new line": "I look it up now\nCALL",
        "emoji": "On it 🚀 LINE",
        "parenthesis": "I check it (again). LINE",
        "bold": "I check **that** LINE",
        "italics": "I check *that*\nCALL",
        "address": "I read https://example.org/a?b=c#d\nCALL",
        "number": "That makes 3.14\nCALL",
        "apostrophes": "It's the user's file, don't worry. LINE",
        "apostrophe at the end": "These are the users' LINE",
        "an abbreviation": "E.g. LINE",
        "after an arrow": "next -> LINE",
        "after an equals sign": "result = LINE",
        "a line with blanks": "Here it is:\n   \nCALL",
        "blanks behind": "Here it is:\nCALL\n\n",
    },
    "headings, lists and tables": {
        "heading before": "## Step 1\n\nCALL",
        "heading on its line": "### LINE",
        "bullet": "- LINE",
        "bullet list before": "Plan:\n- read\n- write\n\nCALL",
        "numbered item": "1. LINE",
        "numbered list before": "1. read\n2. write\nCALL",
        "nested list before": "- a\n  - b\n  - c\n\nCALL",
        "task item": "- [ ] LINE",
        "in an item, two columns": "- first:\n\n  CALL",
        "rule before": "Done so far.\n\n---\n\nCALL",
        "table before": "| a | b |\n|---|---|\n| 1 | 2 |\n\nCALL",
        "definition": "Next step\n: LINE",
    },
    "quotation that has closed": {
        "quoted word": 'The file "a.txt" is next. LINE',
        "quoted sentence": 'You said "delete it." LINE',
        "mark right before": 'You said "delete it."LINE',
        "typographic, right before": "You said “delete it.”LINE",
        "typographic, blank": "You said “delete it.” LINE",
        "single typographic": "You said ‘delete it.’LINE",
        "German": "Du sagtest „lösche es.“LINE",
        "guillemets": "Vous avez dit «efface.»LINE",
        "guillemets with blanks": "Vous avez dit « efface. »LINE",
        "turned guillemets": "Du sagtest »lösche es.«LINE",
        "corner brackets": "「消して」LINE",
        "single quotation marks": "You said 'delete it.'LINE",
        "code span": "I call `read_file` now. LINE",
        "code span right before, blank": "I call `read_file` LINE",
        "code span of two": "I call ``a`b`` now. LINE",
        "fence": "So far:\n\n```sh\nls\n```\n\nCALL",
        "fence, next line": "So far:\n```\nls\n```\nCALL",
        "tilde fence": "~~~\nls\n~~~\nCALL",
        "block quotation": "> delete it\n\nI do so now.\n\nCALL",
        "block quotation right before": "> delete it\n\nCALL",
        "indented code": "So far:\n\n    ls\n\nI go on.\n\nCALL",
        "odd mark on the line before": 'A 5" disk, then.\nCALL',
    },
    "other languages": {
        "Chinese": "我来查一下。CALL",
        "Chinese, colon": "调用工具：CALL",
        "Japanese": "確認します。CALL",
        "Korean": "확인하겠습니다. LINE",
        "Russian": "Сейчас проверю. LINE",
        "Ukrainian, apostrophe": "Зв'язок перевірено. LINE",
        "Arabic": "سأتحقق الآن، LINE",
        "Hebrew": "אבדוק עכשיו. LINE",
        "Hindi": "मैं देखता हूँ। LINE",
        "Greek": "Το ελέγχω; LINE",
        "Spanish": "¡Claro! LINE",
        "French": "C'est l'heure : LINE",
        "Turkish": "Ankara'yı arıyorum. LINE",
        "Thai": "ฉันจะตรวจสอบ LINE",
    },
    "a fence that is all": {
        "no info string": "```\nCALL\n```",
        "xml": "```xml\nCALL\n```",
        "json": "```json\nCALL\n```",
        "tool_call": "```tool_call\nCALL\n```\n",
        "tool_code": "```tool_code\nCALL\n```",
        "tildes": "~~~\nCALL\n~~~",
    },
    "in an open fence": {
        "that never closes": "Here:\n```\nCALL",
        "whose code is before": "```python\nx = 1\nCALL",
    },
    "in an open code span": {
        "one back-tick too many": "I call `read_file now. LINE",
    },
    "in a block quotation": {
        "alone": "> LINE",
        "after a sentence": "As you said:\n> do it\n> LINE",
    },
    "indented by four columns": {
        "after text": "I run:\n\n    LINE",
        "by a tab": "I run:\n\n\tLINE",
    },
    "right behind a mark": {
        "a single mark that opens": "I run ‘LINE",
        "an apostrophe by itself": "the '90s and 'LINE",
    },
    'behind an odd "': {
        "inches": 'The disk is 5" wide. LINE',
        "a quotation that never closes": 'You said "delete it. LINE',
        "ditto mark": 'Same as above: " LINE',
    },
}


def name_contexts() -> dict[tuple[str, str], str]:
    """All contexts, by kind and name."""
    return {(kind, name): text for kind, texts in GENUINE.items() for name, text in texts.items()}
