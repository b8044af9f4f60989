import type { PaymentFilter } from '@florin/protocol/payment-view.ts';
import { useRead } from '../api/use-call.ts';
import { useTokenNames } from '../api/use-token-names.ts';
import { namedApart } from '../ui/named-option.ts';
import type { Option } from '../ui/select.tsx';
import type { PaymentFilters } from './search-body.ts';

/** The names that a filter by id can be chosen by. */
export type FilterChoices = Partial<Record<PaymentFilter, readonly Option[]>>;

/** Things of each kind that are offered by name, the newest first. Others are found by their id. */
const offered = 100;

/** The names for filters by id: all of them while the filters are open, else those of what is set. */
export function useFilterChoices(values: PaymentFilters, isOpen: boolean): FilterChoices {
  const tokenName = useTokenNames();
  const isOn = (name: PaymentFilter) => ({ isOn: isOpen || values[name] !== '' });
  const page = { params: { page: 1, size: offered } };
  const links = useRead('GET /payment/link/list/:page/:size', page, isOn('linkId'));
  const products = useRead('GET /product/list/:page/:size', page, isOn('productId'));
  const accounts = useRead('GET /account/list', {}, isOn('accountId'));
  return {
    linkId: namedApart(
      links.data?.links.map(({ linkId, linkName }) => ({ value: linkId, label: linkName })) ?? [],
    ),
    productId: namedApart(
      products.data?.products.map(({ productId, name }) => ({ value: productId, label: name })) ?? [],
    ),
    accountId: namedApart(
      accounts.data?.map(({ accountId, accountName, accountAddress }) => ({
        value: accountId,
        label: accountName || accountAddress,
      })) ?? [],
    ),
    paidToken:
      values.paidToken === '' ? [] : [{ value: values.paidToken, label: tokenName(values.paidToken) }],
  };
}
