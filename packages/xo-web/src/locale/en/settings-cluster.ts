export const settingsCluster = {
  cluster: {
    lead: "Servers with the same database. Each of them serves all pools; a job, a load balancer or a task belongs to one of them.",
    name: "Name",
    address: "Address",
    unknown: "unknown",
    version: "Version",
    since: "Started",
    seen: "Last heartbeat",
    owns: "Owns",
    leases: { one: "{n} lease", other: "{n} leases" },
    states: { running: "running", leaving: "leaving", lost: "lost" },
    handOver: "Hand over",
    handOverThis: "Hand over what {name} owns",
    handOverAsk: "Hand over what {name} owns?",
    handOverLead:
      "Other servers take over its jobs, load balancers and maintenance. It still serves its clients and finishes its tasks, and takes no leases until it is started again.",
    handedOver:
      "{name} is draining: {moved} handed over, {remaining} to follow.",
    remove: "Remove",
    removeThis: "Remove {name}",
    removeAsk: "Remove this server from the list?",
    removeLead:
      "It does not answer. It is listed again as soon as it is started.",
    removed: "{name} removed.",
  },
};
