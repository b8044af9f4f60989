import { withFrenchSpaces } from '../french-spaces.ts';
import type { ClaimTexts } from './en.ts';

export const claimFr: ClaimTexts = withFrenchSpaces({
  title: 'Argent à l’adresse de dépôt',
  intro:
    'L’argent qui arrive à une adresse de dépôt et ne peut pas servir à ce paiement ne peut être renvoyé qu’à l’adresse de remboursement saisie auparavant. Ni vous ni le marchand ne pouvez changer cette adresse.',
  nothing: 'Ce paiement n’a pas d’adresse de dépôt.',
  place: 'Adresse de dépôt sur {network}',
  others: 'Autres adresses, peut-être pas les vôtres : {count}',
  goesTo: 'Renvoyé à',
  accepted: 'Un montant de {amount} {why}, mais il est accepté comme paiement.',
  arrived: 'Montant reçu : {amount}.',
  counts: 'Il compte pour ce paiement si les {rest} manquants arrivent ici avant le {time}.',
  countsApart: 'Il ne compte pour ce paiement que si le reste arrive ici avant le {time}.',
  countsEnough: 'C’est suffisant. Il devient le paiement.',
  elseGoes: 'Sinon, il est ensuite renvoyé automatiquement.',
  elseWaits: 'Sinon, il est renvoyé automatiquement après le {time}, sauf si le marchand l’accepte.',
  elseByHand: 'Sinon, il reste ici, et n’importe quel portefeuille peut le renvoyer ci-dessous.',
  elseHeld:
    'Sinon, le marchand peut l’accepter jusqu’au {time}. Ensuite, n’importe quel portefeuille peut le renvoyer ci-dessous.',
  allByHand:
    'Pour le moment, rien n’est renvoyé automatiquement ici. N’importe quel portefeuille peut renvoyer l’argent.',
  small:
    'Moins de {least} n’est pas renvoyé automatiquement. Il en va de même pour les monnaies et jetons non proposés ici, et pour l’argent qui arrive plus d’une semaine après le délai de paiement. N’importe quel portefeuille peut le renvoyer.',
  token: 'Ce qui a été envoyé',
  coin: 'La monnaie native du réseau',
  other: 'Un autre jeton',
  contract: 'Adresse du contrat du jeton',
  look: 'Voir ce qui s’y trouve',
  lies: 'Il y a {amount}.',
  empty: 'Il n’y en a pas.',
  later: 'Le contrat le libère après le {time}.',
  sendBack: 'Renvoyer avec {wallet}',
  walletHint:
    'N’importe quel portefeuille peut le faire et ne paie que les frais de réseau. L’argent va à l’adresse ci-dessus.',
  confirm: 'Confirmez dans votre portefeuille.',
  walletCannotSend: 'Ce portefeuille ne peut pas envoyer depuis cette page. Utilisez-en un autre.',
  failed: 'Votre portefeuille signale une erreur. S’il n’a rien envoyé, réessayez.',
  sent: 'Envoyé. L’argent est renvoyé dès que {network} le confirme.',
  reclaim:
    'Si le marchand n’a pas reçu votre paiement avant le {time}, il est renvoyé à {address}. N’importe quel portefeuille peut le renvoyer ici.',
  takeBack: 'Récupérer le paiement',
  noScript: 'Pour le renvoyer vous-même, autorisez les scripts sur cette page.',
  toPayment: 'Vers le paiement',
  refused: 'Ce n’est pas possible en ce moment. Réessayez plus tard.',
});
