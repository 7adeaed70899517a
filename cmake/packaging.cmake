# Packaging: see CPack below.
