/** What a page shows first: few objects, and everything else refers to them. */
const crucial = ["pool", "host", "SR", "network", "VM"];

/** The biggest in a pool, as a rule: begun early, they do not drag on alone at the end. */
const big = [
  "VBD",
  "VBD_metrics",
  "VIF",
  "VDI",
  "VM_metrics",
  "VM_guest_metrics",
];

/** The order in which classes are listed: crucial, then big, then the rest as they come. */
export function listingOrder(classes: readonly string[]): string[] {
  const first = [...crucial, ...big].filter((name) => classes.includes(name));
  return [...first, ...classes.filter((name) => !first.includes(name))];
}
