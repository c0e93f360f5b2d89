interface Keyboard {
  lock(): Promise<void>;
}

/**
 * In full screen, Esc and key combinations of the system go to the guest;
 * holding Esc leaves. In browsers without the API, Esc leaves immediately.
 * https://wicg.github.io/keyboard-lock/
 */
export async function lockKeyboard(): Promise<void> {
  const { keyboard } = navigator as { readonly keyboard?: Keyboard };
  // Rejected when full screen has ended meanwhile.
  await keyboard?.lock().catch(() => undefined);
}
