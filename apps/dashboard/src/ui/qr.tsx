import encodeQr from 'qr';

/** A QR code, dark on white in both themes so that every camera reads it. */
export default function QrCode({
  text,
  label,
  className,
}: {
  readonly text: string;
  readonly label: string;
  readonly className?: string;
}) {
  const svg = encodeQr(text, 'svg', { ecc: 'medium', border: 2 });
  return (
    <img
      alt={label}
      src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
      className={className ?? 'size-44 rounded-lg border border-line bg-white'}
    />
  );
}
