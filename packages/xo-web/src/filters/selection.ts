import { formatFilter, parseFilter, type Filter } from "@xo-server/filter";
import { filterNames, searchedPathsOf } from "./properties.js";

/** The two parameters of the server for a filter. */
interface FilterParameters {
  readonly filter?: string;
  readonly search?: string;
}

/**
 * Parameters of the server for a filter text of the page: its words are
 * searched in names, descriptions, addresses and tags, not anywhere in an
 * object. This matches expectations, and the server does not need to read whole
 * objects.
 * @throws FilterSyntaxError
 */
export function toSelection(text: string, type: string): FilterParameters {
  const tree = parseFilter(text);
  const terms = tree.kind === "and" ? tree.terms : [tree];
  const words = terms.filter(isWord);
  const others = terms.filter((term) => !isWord(term));
  const scoped = others.map((term) => scopeText(term, type));
  const filter = formatFilter({ kind: "and", terms: scoped });
  return {
    ...(others.length === 0 ? {} : { filter }),
    ...(words.length === 0
      ? {}
      : { search: words.map((word) => word.text).join(" ") }),
  };
}

/** Two filter texts combined with AND; each may be empty. */
export function bothOf(one: string, other: string): string {
  if (one.trim() === "" || other.trim() === "") return (one || other).trim();
  return `${one.trim()} ${other.trim()}`;
}

type Word = Filter & { kind: "text" };

function isWord(term: Filter): term is Word {
  return term.kind === "text" && /^\S+$/.test(term.text);
}

/** Converts a word without a property to "one of the searched properties contains it". */
function scopeText(term: Filter, type: string): Filter {
  switch (term.kind) {
    case "and":
    case "or":
      return {
        kind: term.kind,
        terms: term.terms.map((one) => scopeText(one, type)),
      };
    case "not":
      return { kind: "not", term: scopeText(term.term, type) };
    case "text":
    case "glob":
    case "regex":
      return {
        kind: "or",
        terms: pathsFor(term, type).map((path) => within(path, term)),
      };
    case "compare":
    case "property":
    case "truthy":
      return term;
  }
}

/** Ids are random digits: as on the server, short words are not searched in them. */
const MIN_OF_ID = 8;

function pathsFor(term: Filter, type: string): readonly string[] {
  const paths = searchedPathsOf(type);
  return term.kind === "text" && term.text.length < MIN_OF_ID
    ? paths.filter((path) => path !== "id")
    : paths;
}

function within(path: string, term: Filter): Filter {
  return filterNames(path).reduceRight<Filter>(
    (inner, name) => ({ kind: "property", name, term: inner }),
    term,
  );
}
