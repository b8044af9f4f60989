/** What a search knows of a section: its heading, and the headings above it. */
interface FoundSection {
  readonly title?: string;
  readonly titles?: readonly string[];
}

/** Weights of pages by the beginning of their path: what readers do, before what is written down for completeness. */
const areas: readonly (readonly [start: string, weight: number])[] = [
  ['guide/', 1.6],
  ['states', 0.7],
  ['objects', 0.7],
  ['api/dashboard', 0.4],
  ['api/', 1.3],
  ['errors/', 0.7],
  ['contracts', 0.4],
  ['conformance', 0.1],
  ['changelog', 0.3],
  ['runbook/', 0.8],
];
/** Headings that repeat on many pages, and say nothing of their own. */
const repeated =
  /^(?:Errors: .*|Example|What to do|Get started|Payments|Agents|Tools|Production|Concepts|API|Runbooks)$/;

/**
 * How much a section counts that was found by one word. A heading that is just this word, or begins with this error code,
 * comes first, then headings that have it; the heading of a page counts more than those below it.
 */
export function searchWeight(id: string, term: string, { title = '', titles = [] }: FoundSection): number {
  const path = id.replace(/^\/docs\/?/, '');
  const area = areas.find(([start]) => path.startsWith(start))?.[1] ?? 1.2;
  const words = title.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const isWhole = words[0] === term && (words.length === 1 || /^\d{6}$/.test(term));
  const heading = isWhole ? 4 : words.includes(term) ? 2 : 1;
  return area * heading * (titles.length === 0 ? 1.5 : 1) * (repeated.test(title) ? 0.3 : 1);
}
