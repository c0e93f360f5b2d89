export const placement = {
  parts: "Parts of the placement",
  pool: "Pool",
  noPools: "There is no pool yet",
  noPoolsLead:
    "Where VMs run, and where they would restart, is shown of pools that are connected.",
  toServers: "Connect a pool",
  tabs: {
    recommendations: "Recommendations",
    rules: "Rules",
    automatic: "Automatic",
    history: "History",
  },
};
