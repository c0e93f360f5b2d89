/** Milliseconds with three significant digits. */
export function formatMs(ms: number): string {
  if (!Number.isFinite(ms)) return "-";
  if (ms >= 100) return Math.round(ms).toLocaleString("en-US");
  return ms >= 10 ? ms.toFixed(1) : ms.toFixed(2);
}

/** Megabytes of 10^6 bytes. */
export function formatMegabytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return "-";
  const megabytes = bytes / 1e6;
  return Math.abs(megabytes) >= 100
    ? megabytes.toFixed(0)
    : megabytes.toFixed(1);
}

/** Rounded, with commas between thousands; `-` for what was not measured. */
export function formatCount(count: number): string {
  return Number.isFinite(count)
    ? Math.round(count).toLocaleString("en-US")
    : "-";
}

/** `2.50x`; `-` for what was not measured. */
export function formatRatio(ratio: number): string {
  if (!Number.isFinite(ratio)) return "-";
  return `${ratio >= 100 ? ratio.toFixed(0) : ratio.toFixed(2)}x`;
}
