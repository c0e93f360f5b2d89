/**
 * One line for each package of others: `name version: license`.
 * @param {readonly import("./stage.js").Component[]} components
 * @returns {string}
 */
export function toComponentList(components) {
  return components
    .map(({ name, version, license }) => `${name} ${version}: ${license}\n`)
    .join("");
}
