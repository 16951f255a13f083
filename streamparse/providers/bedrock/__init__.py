"""bedrock"""
