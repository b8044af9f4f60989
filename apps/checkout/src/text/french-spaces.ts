/** Sets the spaces before French signs so that no line breaks there: a narrow one before `;`, `!` and `?`, a full one before `:`. */
export function withFrenchSpaces<Name extends string>(
  texts: Readonly<Record<Name, string>>,
): Readonly<Record<Name, string>> {
  const entries = Object.entries<string>(texts).map(([name, text]) => [
    name,
    text.replace(/ ([;!?])/g, '\u202f$1').replaceAll(' :', '\u00a0:'),
  ]);
  return Object.fromEntries(entries) as Readonly<Record<Name, string>>;
}
