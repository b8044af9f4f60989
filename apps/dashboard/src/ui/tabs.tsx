import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export interface Tab<Name extends string = string> {
  readonly name: Name;
  readonly label: ReactNode;
  /** How many are behind the tab, where that helps. */
  readonly count?: number | undefined;
}

/** Tabs above what they choose; they scroll on their own where they do not fit. */
export function Tabs<Name extends string>({
  tabs,
  value,
  onChange,
  label,
  children,
}: {
  readonly tabs: readonly Tab<Name>[];
  readonly value: Name;
  readonly onChange: (name: Name) => void;
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    <Radix.Root
      value={value}
      onValueChange={(name) => {
        const chosen = tabs.find((tab) => tab.name === name);
        if (chosen !== undefined) onChange(chosen.name);
      }}
    >
      <Radix.List
        aria-label={label}
        className="mb-4 flex gap-5 overflow-x-auto overflow-y-hidden border-b border-line [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.name}
            value={tab.name}
            className={classNames(
              '-mb-px flex h-10 items-center gap-1.5 border-b-2 border-transparent font-medium whitespace-nowrap text-soft hover:text-ink',
              'outline-offset-[-2px] data-[state=active]:border-accent data-[state=active]:text-accent',
            )}
          >
            {tab.label}
            {tab.count !== undefined && (
              <span className="rounded-md bg-sunken px-1.5 text-xs text-soft tabular-nums">{tab.count}</span>
            )}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value} tabIndex={-1} className="outline-none">
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}
