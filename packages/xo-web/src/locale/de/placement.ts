import type { Messages } from "../messages.js";

export const placement: Messages["placement"] = {
  parts: "Teile der Platzierung",
  pool: "Pool",
  noPools: "Noch ist kein Pool da",
  noPoolsLead:
    "Wo VMs laufen und wo sie neu starten würden, wird von verbundenen Pools gezeigt.",
  toServers: "Einen Pool verbinden",
  tabs: {
    recommendations: "Empfehlungen",
    rules: "Regeln",
    automatic: "Automatik",
    history: "Protokoll",
  },
};
