const valueTones = { before: 'bg-bad-tint text-bad', after: 'bg-good-tint text-good' };
const signs = { before: '−', after: '+' };

/** A value before or after a change. */
export function ChangedValue({ side, text }: { readonly side: 'before' | 'after'; readonly text: string }) {
  return (
    <span
      className={`rounded-md px-2 py-1 font-mono text-sm break-all whitespace-pre-wrap ${valueTones[side]}`}
    >
      <span className="sr-only">{side}: </span>
      <span aria-hidden>{signs[side]} </span>
      {text === '' ? 'empty' : text}
    </span>
  );
}
