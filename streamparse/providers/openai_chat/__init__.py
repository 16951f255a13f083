"""openai_chat"""
