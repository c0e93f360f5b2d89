export const firstRun = {
  heading: "Welcome. Connect your first pool.",
  another: "Connect another pool",
  lead: "The server shows the state of a pool and follows its changes. It needs the address of a host and the credentials of a user.",
  add: "Connect a pool",
  addLead:
    "Any host of the pool works; the coordinator is preferred. The certificate of the host is displayed before the password is sent.",
  demo: "Or try the demo",
  demoLead:
    "Simulated pools that behave like real pools: start, stop, migrate and delete VMs. They are deleted when the server restarts.",
  demoSize: "Size of the demo",
  demoOpen: "Open simulated pools",
  demoOpening: "Starting simulated pools…",
  sizes: {
    C: { name: "Small", hint: "3 hosts, 60 VMs" },
    B: { name: "Medium", hint: "16 hosts, 600 VMs" },
    A: { name: "Large", hint: "64 hosts, 5,000 VMs; takes several seconds" },
  },
  progress: "Progress",
  steps: {
    connecting: "Signing in",
    listing: "Loading objects",
    watching: "Following changes",
  },
  objects: { one: "{n} object", other: "{n} objects" },
  hosts: { one: "{n} host", other: "{n} hosts" },
  connected: "{name} is connected.",
  correct: "Edit",
  later: "Later",
  notAdmin: "No pools connected",
  notAdminLead:
    "An administrator of this server has to connect the first pool.",
};
