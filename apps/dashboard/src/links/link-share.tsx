import { Copy, ExternalLink, Share2 } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { loadPatiently } from '../app/lazy-screen.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { copyText } from '../ui/copy-text.ts';
import { Card, Section, Skeleton } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';
import type { SharedLink } from './embed-code.ts';
import { LinkEmbed } from './link-embed.tsx';

const LinkQr = lazy(loadPatiently(() => import('./link-qr.tsx')));

/** The ways to hand out a link: its address, a QR code, and code for a site. */
export function LinkShare({ link }: { readonly link: SharedLink }) {
  return (
    <div className="grid items-start gap-x-6 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
      <div className="min-w-0">
        <Section title="Share">
          <Card className="grid gap-3 p-4 md:p-5">
            <input
              readOnly
              aria-label="Address of the link"
              value={link.linkUrl}
              onFocus={(event) => event.target.select()}
              className="h-10 w-full min-w-0 rounded-lg border border-line-strong bg-sunken px-3 font-mono text-sm md:h-9"
            />
            <div className="flex flex-wrap gap-2">
              <Button kind="primary" icon={<Copy />} onClick={() => copyText(link.linkUrl, 'Link copied')}>
                Copy link
              </Button>
              <ShareButton link={link} />
              <a href={link.linkUrl} target="_blank" rel="noreferrer" className={buttonClass('plain')}>
                <ExternalLink aria-hidden className="size-4" />
                Open page
              </a>
            </div>
          </Card>
        </Section>
        <LinkEmbed link={link} />
      </div>
      <div className="min-w-0">
        <Section title="QR code">
          <Card className="flex flex-col items-center gap-4 p-4 md:p-5">
            <Suspense fallback={<Skeleton className="size-44" />}>
              <LinkQr link={link} />
            </Suspense>
          </Card>
        </Section>
      </div>
    </div>
  );
}

/** The device's own way to share, or an e-mail where it has none. */
function ShareButton({ link: { linkUrl, linkName } }: { readonly link: SharedLink }) {
  if (!('share' in navigator)) {
    const mail = `mailto:?subject=${encodeURIComponent(linkName)}&body=${encodeURIComponent(linkUrl)}`;
    return (
      <a href={mail} className={buttonClass('plain')}>
        <Share2 aria-hidden className="size-4" />
        Share
      </a>
    );
  }
  return (
    <Button
      icon={<Share2 />}
      onClick={() =>
        navigator.share({ title: linkName, url: linkUrl }).catch((failure: unknown) => {
          // The person closed the device's dialog.
          if (failure instanceof DOMException && failure.name === 'AbortError') return;
          toast('This device could not share the link. Copy it.');
        })
      }
    >
      Share
    </Button>
  );
}
