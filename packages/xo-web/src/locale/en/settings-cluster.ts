export const settingsCluster = {
  cluster: {
    lead: "Servers with the same database. Each of them serves all pools; a job, a load balancer or a task belongs to one of them.",
    name: "Name",
    thisServer: "this server",
    address: "Address",
    unknown: "unknown",
    version: "Version",
    since: "Started",
    seen: "Last heartbeat",
    owns: "Leases",
    leases: { one: "{n} lease", other: "{n} leases" },
    states: { running: "running", leaving: "handing over", lost: "lost" },
    handOver: "Hand over",
    handOverThis: "Hand over the leases of {name}",
    handOverAsk: "Hand over the leases of {name}?",
    handOverLead:
      "Other servers take over its jobs, load balancers and maintenance. The server still serves its clients, completes its tasks, and acquires no leases until it is restarted.",
    handedOver:
      "{name} is handing over: {moved} leases handed over, {remaining} pending.",
    remove: "Remove",
    removeThis: "Remove {name}",
    removeAsk: "Remove this server from the list?",
    removeLead:
      "The server does not respond. It is listed again when it is started.",
    removed: "{name} removed.",
  },
};
