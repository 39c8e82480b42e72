"""Cards, forms and pages as Block Kit. Nothing here calls Slack."""
