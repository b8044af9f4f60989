import { BookOpenText } from 'lucide-react';
import { type RunbookName, runbooks } from './runbook.ts';

/** What to do about it, in the documentation. */
export function RunbookLink({ name }: { readonly name: RunbookName }) {
  const { path, title } = runbooks[name];
  return (
    <a
      href={path}
      target="_blank"
      rel="noreferrer"
      className="inline-flex items-center gap-1 font-medium whitespace-nowrap text-accent underline-offset-2 hover:underline"
    >
      <BookOpenText aria-hidden className="size-3.5" />
      <span className="sr-only">Runbook: {title}</span>
      <span aria-hidden>Runbook</span>
    </a>
  );
}
