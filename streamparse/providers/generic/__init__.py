"""generic"""
