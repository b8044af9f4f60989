import { Download } from 'lucide-react';
import encodeQr from 'qr';
import { Button } from '../ui/button.tsx';
import { isolated } from '../ui/isolated.ts';
import QrCode from '../ui/qr.tsx';
import { saveFile } from '../ui/save-file.ts';
import { toast } from '../ui/toast.tsx';

const shape = { ecc: 'medium', border: 4 } as const;
/** Pixels of one module: about 800 in all, enough for print. */
const moduleSize = 20;

async function pngOf(text: string): Promise<Blob | null> {
  const modules = encodeQr(text, 'raw', shape);
  const canvas = document.createElement('canvas');
  canvas.width = modules.length * moduleSize;
  canvas.height = canvas.width;
  const pen = canvas.getContext('2d');
  if (pen === null) return null;
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = '#000';
  for (const [y, row] of modules.entries())
    for (const [x, isDark] of row.entries())
      if (isDark) pen.fillRect(x * moduleSize, y * moduleSize, moduleSize, moduleSize);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

/** The QR code of a link, with its files. Loaded by itself, for the encoder is needed nowhere else on the page. */
export default function LinkQr({
  link: { linkUrl, linkName },
}: {
  readonly link: { readonly linkUrl: string; readonly linkName: string };
}) {
  const name = `qr-${linkName.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')}`;
  const savePng = async () => {
    const png = await pngOf(linkUrl);
    if (png === null) toast('This browser could not draw the picture. Take the SVG.');
    else saveFile(`${name}.png`, png, 'image/png');
  };
  return (
    <>
      <QrCode text={linkUrl} label={`QR code of ${isolated(linkName)}`} />
      <div className="flex gap-2">
        <Button
          icon={<Download />}
          onClick={() => saveFile(`${name}.svg`, encodeQr(linkUrl, 'svg', shape), 'image/svg+xml')}
        >
          SVG
        </Button>
        <Button icon={<Download />} onClick={() => void savePng()}>
          PNG
        </Button>
      </div>
    </>
  );
}
