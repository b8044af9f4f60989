import { CopyButton } from './value.tsx';

/** A text as indented JSON; as it is when it is none, such as the page of a proxy. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** A body with a button that copies it exactly. */
export function BodyText({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <figure className="overflow-hidden rounded-lg border border-line">
      <figcaption className="flex items-center justify-between border-b border-line bg-sunken py-1.5 pr-2 pl-3 text-sm text-soft">
        {label}
        <CopyButton text={text} label={`Copy: ${label}`} />
      </figcaption>
      <pre className="max-h-96 overflow-auto p-3 font-mono text-xs break-words whitespace-pre-wrap">
        {indented(text)}
      </pre>
    </figure>
  );
}
