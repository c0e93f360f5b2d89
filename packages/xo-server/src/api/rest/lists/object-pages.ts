import type { PageRequest, Queries } from "@xo-server/inventory";

/** Some objects of a list, in its order. */
export interface ObjectPage {
  readonly hrefs: readonly string[];
  /** JSON of each, with the fields that were asked for. */
  readonly rows: readonly Buffer[];
}

export type ObjectPages = AsyncGenerator<ObjectPage, void, void>;

/** Objects in the first page, so that it comes at once, and in the others, so that each is joined in about a millisecond. */
const FIRST_PAGE_SIZE = 64;
const NEXT_PAGE_SIZE = 256;

/**
 * Everything that a question has for an answer, read as fast as it is taken.
 * @param toHref of an object's id
 * @throws (at the first page) XoError INVALID_PARAMETERS, FILTER_INVALID
 */
export async function* readPages(
  queries: Pick<Queries, "page">,
  request: PageRequest,
  toHref: (id: string) => string,
): ObjectPages {
  let left = request.limit ?? Infinity;
  let after: string | undefined;
  for (let size = FIRST_PAGE_SIZE; left > 0; size = NEXT_PAGE_SIZE) {
    const page = await queries.page({
      ...request,
      // No order is promised; that of ids costs the least.
      sort: [],
      limit: Math.min(size, left),
      ...(after === undefined ? {} : { after }),
    });
    yield { hrefs: page.ids.map(toHref), rows: page.rows };
    after = page.next;
    left -= page.ids.length;
    if (after === undefined) return;
  }
}

/** Objects that are at hand already. */
export async function* pageOf(page: ObjectPage): ObjectPages {
  for (let from = 0; from < page.rows.length; from += NEXT_PAGE_SIZE)
    yield {
      hrefs: page.hrefs.slice(from, from + NEXT_PAGE_SIZE),
      rows: page.rows.slice(from, from + NEXT_PAGE_SIZE),
    };
}
