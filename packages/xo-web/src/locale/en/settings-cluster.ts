export const settingsCluster = {
  cluster: {
    lead: "Servers with the same database. Each of them serves all pools; a job, a load balancer or a task belongs to one of them.",
    name: "Name",
    thisServer: "this server",
    address: "Address",
    unknown: "unknown",
    version: "Version",
    since: "Started",
    lastHeartbeat: "Last heartbeat",
    ownedLeases: "Leases",
    leases: { one: "{n} lease", other: "{n} leases" },
    states: { running: "running", leaving: "handing over", lost: "lost" },
    handOver: "Hand over",
    handOverNamed: "Hand over the leases of {name}",
    handOverQuestion: "Hand over the leases of {name}?",
    handOverLead:
      "Other servers take over its jobs, load balancers and maintenance. The server still serves its clients, completes its tasks, and acquires no leases until it is restarted.",
    handedOver:
      "{name} is handing over: {moved} leases handed over, {remaining} pending.",
    remove: "Remove",
    removeNamed: "Remove {name}",
    removeQuestion: "Remove this server from the list?",
    removeLead:
      "The server does not respond. It is listed again when it is started.",
    removed: "{name} removed.",
  },
};
