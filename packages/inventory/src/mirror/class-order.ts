/** Listed first: few objects, shown first, and referred to by all others. */
const firstClasses = ["pool", "host", "SR", "network", "VM"];

/**
 * Usually the largest classes of a pool. Listed early, so that the listing does
 * not end with one long class alone.
 */
const largeClasses = [
  "VBD",
  "VBD_metrics",
  "VIF",
  "VDI",
  "VM_metrics",
  "VM_guest_metrics",
];

/**
 * Sorts class names: firstClasses, then largeClasses, then the others in their
 * order.
 */
export function listingOrder(classes: readonly string[]): string[] {
  const leading = [...firstClasses, ...largeClasses].filter((name) =>
    classes.includes(name),
  );
  return [...leading, ...classes.filter((name) => !leading.includes(name))];
}
