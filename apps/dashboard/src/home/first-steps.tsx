import { Check } from 'lucide-react';
import { useRead } from '../api/use-call.ts';
import { useHasScreen } from '../app/open-screens.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { buttonClass } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Card } from '../ui/page.tsx';

export interface Step {
  readonly title: string;
  readonly text: string;
  readonly path: string;
  readonly act: string;
  readonly isDone: boolean;
}

const one = { params: { page: 1, size: 1 } };

/** What a new shop has done and what comes next; none once it has started. */
export function useSteps(): { readonly steps: readonly Step[]; readonly isLoading: boolean } {
  const accounts = useRead('GET /account/list', {});
  const products = useRead('GET /product/list/:page/:size', one);
  const links = useRead('GET /payment/link/list/:page/:size', one);
  const settled = useRead('GET /session/list/completed/:page/:size', one);
  const webhooks = useRead('GET /webhook/list', {});
  const isLoading = [accounts, products, links, settled, webhooks].some(({ isPending }) => isPending);
  if (
    accounts.data === undefined ||
    products.data === undefined ||
    links.data === undefined ||
    settled.data === undefined ||
    webhooks.data === undefined
  )
    return { steps: [], isLoading };
  const steps = [
    {
      title: 'Add a wallet',
      text: 'Payments are settled into it. Only you hold its key.',
      path: 'wallets',
      act: 'Add a wallet',
      isDone: accounts.data.length > 0,
    },
    {
      title: 'Add a product',
      text: 'A name, a price and a picture.',
      path: 'products',
      act: 'Add a product',
      isDone: products.data.total > 0,
    },
    {
      title: 'Make a payment link',
      text: 'A page where payers pay. It needs no program.',
      path: 'links',
      act: 'Make a link',
      isDone: links.data.total > 0,
    },
    {
      title: 'Pay it yourself',
      text: 'Open the link and pay a small amount, and watch it settle.',
      path: 'links',
      act: 'Open a link',
      isDone: settled.data.total > 0,
    },
    {
      title: 'Tell your server',
      text: 'A webhook says what was paid, signed and tried again until it is heard.',
      path: 'webhooks',
      act: 'Add a webhook',
      isDone: webhooks.data.webhooks.length > 0,
    },
  ];
  // The first settled payment ends the first steps.
  return { steps: settled.data.total > 0 ? [] : steps, isLoading };
}

/** The first steps of a shop. */
export function FirstSteps({ steps }: { readonly steps: readonly Step[] }) {
  const hasScreen = useHasScreen();
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <Card className="mb-8 overflow-hidden">
      <div className="flex items-baseline justify-between gap-4 border-b border-line px-4 py-3 md:px-5">
        <h2 className="text-lg font-semibold">First steps</h2>
        <p className="text-soft tabular-nums">
          {done} of {steps.length} done
        </p>
      </div>
      <ol className="divide-y divide-line">
        {steps.map((step, index) => (
          <li key={step.title} className="flex flex-wrap items-center gap-x-4 gap-y-3 px-4 py-3 md:px-5">
            <span
              className={classNames(
                'flex size-7 shrink-0 items-center justify-center rounded-full border text-sm font-semibold tabular-nums',
                step.isDone
                  ? 'border-transparent bg-good-tint text-good'
                  : step === next
                    ? 'border-accent text-accent'
                    : 'border-line-strong text-faint',
              )}
            >
              {step.isDone ? <Check aria-label="done" className="size-4" /> : index + 1}
            </span>
            <div className="min-w-0 flex-1 basis-48">
              <p className={classNames('font-medium', step.isDone && 'text-soft')}>{step.title}</p>
              {!step.isDone && <p className="text-soft">{step.text}</p>}
            </div>
            {step === next && hasScreen(step.path) && (
              <ScreenLink path={step.path} className={buttonClass('primary', 'normal', 'max-sm:ml-11')}>
                {step.act}
              </ScreenLink>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
