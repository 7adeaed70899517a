"""How a training in PyTorch is measured: by the observer of scripts that nobody changed (dtctl_observe), and by dtctl_sync."""
