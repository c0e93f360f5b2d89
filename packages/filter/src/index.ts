export type { Filter } from "./filter.js";
export { FilterSyntaxError } from "./filter-syntax-error.js";
export { formatFilter } from "./format-filter.js";
export {
  filterLimits,
  parseFilter,
  type PatternCheck,
} from "./parse-filter.js";
export { isRawText, numberOfRaw, rawText } from "./raw-text.js";
