/** Gives the cell under the pointer a tooltip with its text if the text is cut. */
export function titleCut({ target }: PointerEvent): void {
  const cell = (target as Element).closest<HTMLElement>("[role=gridcell]");
  if (cell === null) return;
  const isCut = [cell, ...cell.querySelectorAll("*")].some(
    // Inline elements have no width of their own.
    ({ clientWidth, scrollWidth }) =>
      clientWidth > 0 && scrollWidth > clientWidth,
  );
  if (isCut) cell.title = cell.textContent.trim();
  else cell.removeAttribute("title");
}
