"""The Ansible role against real hosts: small Debian systems in namespaces of their own, without a network."""
