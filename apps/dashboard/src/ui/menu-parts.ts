import { type ComponentType, createContext, type ReactNode } from 'react';

export interface MenuProps {
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: 'start' | 'end';
  readonly className?: string;
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly icon?: ReactNode;
  readonly children: ReactNode;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly isChosen?: boolean;
}

export interface MenuCheckProps {
  readonly children: ReactNode;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** What an open menu is made of. */
export interface MenuParts {
  readonly Item: ComponentType<MenuItemProps>;
  readonly Check: ComponentType<MenuCheckProps>;
  readonly Label: ComponentType<{ readonly children: ReactNode }>;
  readonly Line: ComponentType;
}

/** From the menu that is open: items that imported what they are made of would bring it into every first load. */
export const MenuPartsContext = createContext<MenuParts | undefined>(undefined);
