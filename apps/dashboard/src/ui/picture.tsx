import { Image, Package } from 'lucide-react';
import { classNames } from './class-names.ts';
import { hostedImagePath } from './hosted-image.ts';

const sizes = {
  small: { className: 'size-9 [&>svg]:size-4', pixels: 96 },
  large: { className: 'size-20 [&>svg]:size-6', pixels: 320 },
} as const;

/** The picture of a product or a shop, or an icon in its place. */
export function Picture({
  url,
  size = 'small',
  fit = 'cover',
}: {
  readonly url: string;
  readonly size?: keyof typeof sizes;
  /** `contain` shows the whole picture, as of a logo. */
  readonly fit?: 'cover' | 'contain';
}) {
  const { className, pixels } = sizes[size];
  const path = hostedImagePath(url, pixels);
  const frame = classNames('shrink-0 rounded-lg border border-line bg-sunken', className);
  if (path === undefined)
    return (
      <span aria-hidden className={classNames(frame, 'flex items-center justify-center text-faint')}>
        {fit === 'cover' ? <Package /> : <Image />}
      </span>
    );
  return (
    <img
      src={path}
      alt=""
      className={classNames(frame, fit === 'cover' ? 'object-cover' : 'object-contain')}
    />
  );
}
