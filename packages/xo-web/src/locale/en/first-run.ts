export const firstRun = {
  heading: "Welcome. Let us connect your first pool.",
  another: "Connect another pool",
  lead: "The server follows each change in a pool and shows it here. It needs the address of one host and somebody who may sign in there.",
  add: "A pool of yours",
  addLead:
    "Any host of the pool will do; best is its coordinator. Before the password goes anywhere, the host shows its certificate.",
  demo: "Or look around first",
  demoLead:
    "Simulated pools that behave as real ones: start, stop, migrate and break what you like. They are gone when the server restarts.",
  demoSize: "How much to simulate",
  demoOpen: "Open simulated pools",
  demoOpening: "Starting them…",
  sizes: {
    C: { name: "Small", hint: "3 hosts, 60 VMs" },
    B: { name: "Medium", hint: "16 hosts, 600 VMs" },
    A: { name: "Large", hint: "64 hosts, 5,000 VMs; takes some seconds" },
  },
  progress: "How far it is",
  steps: {
    connecting: "Signing in",
    listing: "Reading what there is",
    watching: "Following each change",
  },
  objects: { one: "{n} object", other: "{n} objects" },
  hosts: { one: "{n} host", other: "{n} hosts" },
  connected: "{name} is connected.",
  correct: "Correct it",
  later: "Later",
  notAdmin: "There are no pools yet",
  notAdminLead: "An administrator of this server has to connect the first one.",
};
