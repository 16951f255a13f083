"""openai_compatible"""
