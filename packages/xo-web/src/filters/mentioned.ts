import { parseFilter, type Filter } from "@xo-server/filter";
import { propertyOf, type Property } from "./properties.js";

/** An object that a filter names by its id. */
export interface Mentioned {
  readonly property: Property & { readonly of: string };
  readonly id: string;
  readonly isNot: boolean;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The objects that a filter names by id. None for an invalid filter. */
export function mentionedIn(text: string, type: string): readonly Mentioned[] {
  try {
    return mentioned(parseFilter(text), { type, names: [], isNot: false });
  } catch {
    return [];
  }
}

interface TermContext {
  readonly type: string;
  readonly names: readonly string[];
  readonly isNot: boolean;
}

function mentioned(filter: Filter, context: TermContext): Mentioned[] {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.terms.flatMap((term) => mentioned(term, context));
    case "not":
      return mentioned(filter.term, { ...context, isNot: !context.isNot });
    case "property": {
      const names = [...context.names, filter.name];
      return mentioned(filter.term, { ...context, names });
    }
    case "text":
      return ID.test(filter.text) ? named(filter.text, context) : [];
    case "compare":
    case "truthy":
    case "glob":
    case "regex":
      return [];
  }
}

function named(id: string, { type, names, isNot }: TermContext): Mentioned[] {
  const property = propertyOf(type, names.join("."));
  return property?.of === undefined
    ? []
    : [{ property: { ...property, of: property.of }, id, isNot }];
}
