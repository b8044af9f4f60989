import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { CheckField } from '../ui/field.tsx';
import { saveFile } from '../ui/save-file.ts';
import { CopyButton } from '../ui/value.tsx';

/** Recovery codes, shown once: to copy, to save, and to say that they are kept. */
export function RecoveryCodes({
  email,
  codes,
  onKept,
}: {
  readonly email: string;
  readonly codes: readonly string[];
  readonly onKept: () => void;
}) {
  const [isKept, setKept] = useState(false);
  const text = `${codes.join('\n')}\n`;
  const day = new Date().toISOString().slice(0, 10);
  const file = `Recovery codes of ${email} at ${location.origin}, made on ${day}. Each opens the account once.\n\n${text}`;
  return (
    <div className="grid gap-4">
      <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken py-3 pr-2 pl-4">
        <ol className="grid min-w-0 flex-1 gap-y-1 overflow-x-auto font-mono text-sm whitespace-nowrap">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <CopyButton text={text} label="Copy all codes" />
      </div>
      <Button icon={<Download />} onClick={() => saveFile(`recovery-codes-${day}.txt`, file)}>
        Save as a file
      </Button>
      <CheckField label="I have kept the codes in a safe place" isChecked={isKept} onChange={setKept} />
      <Button kind="primary" size="large" disabled={!isKept} onClick={onKept}>
        Continue
      </Button>
    </div>
  );
}
