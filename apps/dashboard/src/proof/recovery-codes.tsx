import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { CheckField } from '../ui/field.tsx';
import { saveFile } from '../ui/save-file.ts';
import { CopyButton } from '../ui/value.tsx';

/** Recovery codes, shown once: to copy, to save, and to say that they are kept. */
export function RecoveryCodes({
  codes,
  onKept,
}: {
  readonly codes: readonly string[];
  readonly onKept: () => void;
}) {
  const [isKept, setKept] = useState(false);
  const text = `${codes.join('\n')}\n`;
  return (
    <div className="grid gap-4">
      <div className="relative rounded-lg border border-line bg-sunken p-4">
        <ol className="grid grid-cols-1 gap-x-6 gap-y-1 font-mono text-sm sm:grid-cols-2">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <span className="absolute top-2 right-2">
          <CopyButton text={text} label="Copy all codes" />
        </span>
      </div>
      <Button icon={<Download />} onClick={() => saveFile('florin-recovery-codes.txt', text)}>
        Save as a file
      </Button>
      <CheckField label="I have kept the codes in a safe place" isChecked={isKept} onChange={setKept} />
      <Button kind="primary" size="large" disabled={!isKept} onClick={onKept}>
        Continue
      </Button>
    </div>
  );
}
