import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

/** A text that is shown this once, such as a key or the link of an invitation. */
export function Secret({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="grid gap-3">
      <div className="flex flex-col gap-2 sm:flex-row">
        <input
          readOnly
          aria-label={label}
          value={text}
          onFocus={(event) => event.target.select()}
          className="h-10 min-w-0 flex-1 rounded-lg border border-line-strong bg-sunken px-3 font-mono text-sm md:h-9"
        />
        <Button
          kind="primary"
          icon={isCopied ? <Check /> : <Copy />}
          onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
        >
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      </div>
      <Notice tone="warn">It is shown this once. Keep it before you close this.</Notice>
    </div>
  );
}
