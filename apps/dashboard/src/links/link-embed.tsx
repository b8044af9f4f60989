import { Copy } from 'lucide-react';
import { useState } from 'react';
import { ScreenLink } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { copyText } from '../ui/copy-text.ts';
import { Card, Section } from '../ui/page.tsx';
import { SegmentedChoice } from '../ui/segmented-choice.tsx';
import { anchorCode, buttonCode, type SharedLink } from './embed-code.ts';

const linkClass = 'text-accent underline underline-offset-2';

/** Code for the HTML of a shop. */
export function LinkEmbed({ link }: { readonly link: SharedLink }) {
  const [kind, setKind] = useState<'button' | 'anchor'>('button');
  const code = kind === 'button' ? buttonCode(link) : anchorCode(link);
  return (
    <Section
      title="Embed"
      description="For the HTML of your site."
      actions={
        <SegmentedChoice
          label="Kind of code"
          value={kind}
          onChange={setKind}
          options={[
            { value: 'button', label: 'Button' },
            { value: 'anchor', label: 'Plain link' },
          ]}
        />
      }
    >
      <Card className="flex flex-col items-start gap-3 p-4 md:p-5">
        <textarea
          readOnly
          aria-label="Code for your site"
          value={code}
          onFocus={(event) => event.target.select()}
          className="field-sizing-content w-full resize-none rounded-lg border border-line-strong bg-sunken px-3 py-2 font-mono text-sm break-all"
        />
        <p className="text-soft">
          {kind === 'button' ? (
            <>
              The button opens the payment in a window, in the colours of your branding. Your page hears what
              becomes of the payment once its origin is listed under{' '}
              <ScreenLink path="branding" className={linkClass}>
                Branding
              </ScreenLink>
              .{' '}
            </>
          ) : (
            'The link opens the payment in place of your page. It works where no script runs, such as in an e-mail. '
          )}
          <a href="/docs/guide/embed-the-checkout" target="_blank" rel="noreferrer" className={linkClass}>
            How to embed
          </a>
        </p>
        <Button icon={<Copy />} onClick={() => copyText(code, 'Code copied')}>
          Copy code
        </Button>
      </Card>
    </Section>
  );
}
