"""Traffic of other clients: recorded or passing a proxy, judged by the checks of a run."""
