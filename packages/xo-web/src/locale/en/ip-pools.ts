export const ipPools = {
  lead: "Addresses for the VMs of resource sets: each new interface on one of the networks gets a free address and may use no other.",
  add: "Add IP pool",
  edit: "IP pool {name}",
  none: "No IP pools",
  noneLead: "Example: 10.0.1.10-10.0.1.99 for the network of a team.",
  saved: "IP pool {name} saved.",
  deleted: "IP pool {name} deleted.",
  deleteQuestion: "Delete IP pool {name}?",
  deleteLead: "Addresses of existing interfaces are not changed.",
  actions: "Actions for {name}",
  name: "Name",
  addresses: "Addresses",
  addressesHint:
    "One per line: an address, a range (10.0.0.10-10.0.0.99) or a network (10.0.1.0/24).",
  networks: "Networks",
  used: "Used",
  usedOf: "{used} of {total}",
};
