import type { ReactNode } from 'react';

/** One setting: what it is, how it stands, and its act at the end. */
export function SettingRow({
  icon,
  title,
  children,
  action,
}: {
  readonly icon?: ReactNode;
  readonly title: ReactNode;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 md:px-5">
      {icon !== undefined && (
        <span className="hidden size-9 shrink-0 items-center justify-center rounded-lg bg-sunken text-soft sm:flex [&>svg]:size-4.5">
          {icon}
        </span>
      )}
      <div className="min-w-0 flex-1 basis-52">
        <div className="flex flex-wrap items-center gap-2 font-medium">{title}</div>
        {children !== undefined && <div className="text-soft">{children}</div>}
      </div>
      {action}
    </div>
  );
}
