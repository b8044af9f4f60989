import { LoaderCircle } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

const kinds: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent shadow-card',
  plain: 'bg-raised text-ink border-line-strong hover:bg-sunken shadow-card',
  quiet: 'bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-bad text-canvas border-transparent hover:opacity-90 shadow-card',
};

const sizes = {
  small: 'h-8 px-2.5 text-sm gap-1.5 rounded-md',
  normal: 'h-10 md:h-9 px-3.5 gap-2 rounded-lg',
  large: 'h-11 px-4 gap-2 rounded-lg',
};

/** The look of a button, for links that look like one. */
export function buttonClass(
  kind: ButtonKind = 'plain',
  size: keyof typeof sizes = 'normal',
  more?: string,
): string {
  return classNames(
    'relative inline-flex shrink-0 items-center justify-center border font-medium whitespace-nowrap select-none',
    'transition-colors disabled:cursor-not-allowed disabled:opacity-55',
    'aria-disabled:cursor-not-allowed aria-disabled:opacity-55',
    kinds[kind],
    sizes[size],
    more,
  );
}

export interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: ButtonKind;
  readonly size?: keyof typeof sizes;
  /** Shows that the act is under way, and takes no click. The width stays. */
  readonly isBusy?: boolean;
  readonly icon?: ReactNode;
}

export function Button({
  kind,
  size,
  isBusy = false,
  icon,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      // Not `disabled`, which would take the focus away.
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
      className={buttonClass(kind, size, className)}
    >
      <span className={classNames('contents', isBusy && '[&>*]:invisible')}>
        {icon !== undefined && <span className="-ml-0.5 [&>svg]:size-4">{icon}</span>}
        <span>{children}</span>
      </span>
      {isBusy && <LoaderCircle aria-hidden className="absolute size-4 animate-spin" />}
    </button>
  );
}

export interface IconButtonProps extends ComponentProps<'button'> {
  /** What the button does, for the tooltip and for screen readers. */
  readonly label: string;
}

/** A button of one icon. */
export function IconButton({ label, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={classNames(
        'inline-flex size-9 shrink-0 items-center justify-center rounded-lg text-soft hover:bg-sunken hover:text-ink md:size-8',
        '[&>svg]:size-4',
        className,
      )}
    />
  );
}
