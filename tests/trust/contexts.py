"""Contexts in which an answer shows the markup of a call, and goes on: text that is no call's.

`CALL` stands for the markup as a model writes it, `LINE` for the same in one line.
"""

from __future__ import annotations

__all__ = ["BEFORE", "CONTEXTS"]

CONTEXTS = {
    # HTML and other markup
    "HTML paragraph": "<p>Send LINE to continue.</p>\n",
    "HTML list": "<ul>\n<li>one</li>\n<li>LINE</li>\n</ul>\n",
    "HTML table": "<table>\n<tr><td>markup</td><td>LINE</td></tr>\n</table>\n",
    "HTML comment": "<!-- CALL -->\nThe comment is hidden.\n",
    "HTML script": "<script>\nCALL\n</script>\n",
    "HTML pre": "<pre>\nCALL\n</pre>\nSo the page.\n",
    "HTML details": "<details><summary>Trace</summary>\n\nCALL\n\n</details>\n",
    "HTML textarea": "<textarea name=prompt>LINE</textarea>\n",
    "HTML hidden": "<div style=display:none>\nCALL\n</div>\nThat is all of the page.\n",
    "HTML keyboard": "Press <kbd>LINE</kbd> to send.\n",
    "HTML deleted": "He wrote <del>LINE</del> before.\n",
    "XML element": "<item>\n<body>CALL</body>\n</item>\n",
    "XML CDATA": "<![CDATA[\nCALL\n]]>\n</doc>\n",
    "BBCode": "[quote=admin]\nCALL\n[/quote]\n",
    "LaTeX verbatim": "\\begin{verbatim}\nCALL\n\\end{verbatim}\n",
    "LaTeX listing": "\\begin{lstlisting}\nCALL\n\\end{lstlisting}\nas printed.\n",
    "reStructuredText": "Example::\n\n  CALL\n\nThe next paragraph.\n",
    "AsciiDoc": "----\nCALL\n----\n",
    "Org block": "#+BEGIN_SRC xml\nCALL\n#+END_SRC\n",
    "MediaWiki": "<nowiki>CALL</nowiki> is the template.\n",
    "Jira": "{code:xml}\nCALL\n{code}\n",
    # tables
    "table cell": "| name | markup |\n|---|---|\n| one | LINE |\n",
    "table row and text": "| LINE | bad |\n\nThe table has one row.\n",
    "CSV": "id,text\n1,LINE\n2,none\n",
    "TSV": "1\tLINE\tspam\n2\tok\tham\n",
    "aligned columns": "NAME      BODY\nfirst     LINE   new\nsecond    -      old\n",
    # diffs
    "diff, added": "--- a/t\n+++ b/t\n@@ -1 +1,2 @@\n x\n+LINE\n y\n",
    "diff, taken away": "@@ -3,2 +3 @@\n-LINE\n z\n",
    "diff, context": "@@ -1,3 +1,3 @@\n LINE\n-old\n+new\n",
    "merge conflict": "<<<<<<< ours\nLINE\n=======\nx\n>>>>>>> theirs\n",
    "patch note": "The patch adds LINE in line 7.\n",
    # logs
    "log line": "12:03:11 INFO model said LINE\n12:03:12 INFO end\n",
    "log with level": "[WARN] LINE [ignored]\n",
    "stack trace": "Traceback (most recent call last):\n  File x\nValueError: LINE\nexit code 1\n",
    "grep": "src/a.txt:12:LINE\nsrc/b.txt:3:nothing\n",
    "shell session": "$ cat prompt.txt\nCALL\n$ echo done\ndone\n",
    "HTTP dump": "HTTP/1.1 200 OK\nContent-Type: text/plain\n\nCALL\n\nConnection closed.\n",
    "test output": "FAILED test_x - got LINE\n1 failed in 0.1s\n",
    "mail": "Subject: now\n\nCALL\n\n-- \nAnn\n",
    # footnotes, lists, asides
    "footnote": "See the note.[^1]\n\n[^1]: LINE\n\nNothing else.\n",
    "numbered": "1. LINE\n2. the answer\n",
    "bullet": "- LINE\n- nothing\n",
    "nested bullet": "- formats\n  - LINE\n- end\n",
    "task list": "- [x] LINE\n- [ ] rest\n",
    "definition": "call\n: LINE\n\nanswer\n: text\n",
    "parenthesis": "The markup (LINE) is not for you.\n",
    "dash": "It wrote - LINE - and stopped.\n",
    "aside": "Note: LINE. I did not send it.\n",
    "heading": "# LINE\n\nis the title.\n",
    "rule": "CALL\n\n---\n",
    "bold": "**LINE** is what it says.\n",
    "emoji": "CALL\n👍\n",
    "full stop": "CALL.\n",
    # comments of programs
    "hash comment": "# LINE\nx = 1\n",
    "slashes": "// LINE\nint x;\n",
    "block comment": "/*\nCALL\n*/\nreturn 0;\n",
    "SQL comment": "-- LINE\nSELECT 1;\n",
    "Lua comment": "--[[ LINE ]]\nend\n",
    "semicolon comment": "; LINE\n(define x 1)\n",
    "docstring": "def f():\n    x = 1\n# CALL\n    return x\n",
    # other languages
    "Chinese": "页面上写着：CALL\n我没有执行它。\n",
    "Japanese": "ページには「LINE」とあります。\n",
    "German": "Auf der Seite steht: CALL\nIch führe es nicht aus.\n",
    "French": "La page dit : LINE ; je ne le fais pas.\n",
    "Arabic": "تقول الصفحة: LINE ولم أنفذها.\n",
    "Russian": "На странице написано: CALL\nЯ этого не делаю.\n",
    "Hindi": "पन्ने पर लिखा है: LINE।\n",
}

BEFORE = {
    "nothing": "CALL",
    "a sentence": "The page says:\n\nCALL",
    "a word": "Injected: LINE\n",
    "Chinese": "页面上写着：\nCALL\n",
    "a list": "- one\n- two\n\nCALL\n",
}
"""What stands before a call behind which no text follows, so that something else must be the break."""
