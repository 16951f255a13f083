"""cohere"""
