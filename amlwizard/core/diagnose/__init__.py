"""``diagnose``: one redacted file that tells whoever helps what this computer and this workspace are like.

It looks and changes nothing. Each part has its limit, and one that fails is named in the file instead of ending the rest.
"""
