import { type MemberRole, mayAssign, memberRoles } from '@florin/protocol/member-role.ts';
import { roleDoes, roleTitle } from '../app/roles.ts';
import { ChoiceField } from '../ui/choice.tsx';

/** The roles that the actor may give, each with what it does. */
export function RoleChoice({
  actor,
  value,
  onChange,
}: {
  readonly actor: MemberRole;
  readonly value: MemberRole;
  readonly onChange: (role: MemberRole) => void;
}) {
  const options = memberRoles
    .filter((role) => mayAssign(actor, role))
    .map((role) => ({ value: role, label: roleTitle(role), hint: roleDoes(role) }));
  return <ChoiceField label="Role" value={value} onChange={onChange} options={options} />;
}
