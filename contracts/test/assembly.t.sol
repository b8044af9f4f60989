// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositReceiver} from "../src/DepositReceiver.sol";
import {IDepositReceiver} from "../src/interfaces/IDepositReceiver.sol";
import {IERC20} from "../src/interfaces/IERC20.sol";
import {Create2} from "../src/libraries/Create2.sol";
import {Signature} from "../src/libraries/Signature.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {Test} from "./base/Test.sol";

/// @notice Answers or reverts with what it was told, whatever it is asked, and takes the chain's coin or refuses it.
contract Answerer {
    bytes private _answer;
    bool private _reverts;

    function set(bytes calldata answer, bool reverts) external {
        (_answer, _reverts) = (answer, reverts);
    }

    receive() external payable {
        _reply();
    }

    fallback() external {
        _reply();
    }

    function _reply() private view {
        bytes memory answer = _answer;
        bool reverts = _reverts;
        assembly ("memory-safe") {
            if reverts { revert(add(answer, 0x20), mload(answer)) }
            return(add(answer, 0x20), mload(answer))
        }
    }
}

/// @notice Something to create.
contract Created {
    uint256 public immutable NUMBER;

    constructor(uint256 number) {
        require(number != 0, "refused");
        NUMBER = number;
    }
}

/// @notice Each block of assembly of the contracts beside plain Solidity. The three that hash are in order-id.t.sol.
contract AssemblyTest is Test {
    Answerer internal answerer = new Answerer();

    function test_balanceOfIsThatOfACallWithAnInterface(uint256 word, uint8 size, bool reverts, address owner) public {
        answerer.set(answerOf(word, size), reverts);
        (bool plain, bytes memory wanted) = address(this).call(abi.encodeCall(this.plainBalanceOf, (owner)));
        (bool success, bytes memory found) = address(this).call(abi.encodeCall(this.balanceOf, (owner)));
        if (!plain) wanted = abi.encodeWithSelector(TokenTransfer.BalanceUnavailable.selector, answerer);
        vm.assertEq(success, plain, "whether it answers");
        vm.assertEq(keccak256(found), keccak256(wanted), "what it answers");
    }

    function test_callIsThatOfSolidityAndADecodedAnswer(bytes calldata data, uint256 word, uint8 size, bool reverts)
        public
    {
        answerer.set(answerOf(word, size), reverts);
        vm.assertEq(TokenTransfer.call(address(answerer), gasleft(), data), plainCall(address(answerer), data), "code");
        address empty = account("no code");
        vm.assertEq(TokenTransfer.call(empty, gasleft(), data), plainCall(empty, data), "no code");
    }

    function test_splitIsThatOfSlices(bytes32 r, bytes32 s, uint8 v) public view {
        this.compareSplit(abi.encodePacked(r, s, v));
    }

    function test_deployIsThatOfNewWithASalt(bytes32 salt, uint256 number) public {
        vm.assume(number != 0);
        uint256 clean = vm.snapshotState();
        address plain = address(new Created{salt: salt}(number));
        bytes32 codeHash = plain.codehash;
        vm.revertToState(clean);
        bytes memory code = abi.encodePacked(type(Created).creationCode, number);
        vm.assertEq(Create2.addressOf(salt, code), plain, "foretold");
        vm.assertEq(Create2.deploy(salt, code), plain, "address");
        vm.assertEq(plain.codehash, codeHash, "code");
        vm.assertEq(Create2.deploy(salt, code), address(0), "a second time");
        vm.assertEq(
            Create2.deploy(salt, abi.encodePacked(type(Created).creationCode, uint256(0))), address(0), "refused"
        );
    }

    function test_forwardOfCoinIsThatOfACallWithValue(uint64 held, uint64 amount, bytes calldata answer, bool reverts)
        public
    {
        DepositReceiver receiver = DepositReceiver(deploy("DepositReceiver", ""));
        answerer.set(answer, reverts);
        vm.deal(address(receiver), held);
        vm.deal(address(this), held);
        (bool plain,) = address(answerer).call{value: amount}("");
        uint256 got = address(answerer).balance;
        if (!plain) vm.expectRevert(abi.encodeWithSelector(IDepositReceiver.CoinRefused.selector, answerer));
        receiver.forward(address(0), address(answerer), amount);
        vm.assertEq(address(answerer).balance, 2 * got, "the same again");
    }

    /// @dev Of every length up to two words; half of them begin with a word that is 1.
    function answerOf(uint256 word, uint8 size) private pure returns (bytes memory answer) {
        answer = abi.encode(word % 2 == 0 ? 1 : word, word);
        assembly ("memory-safe") {
            mstore(answer, mod(size, 65))
        }
    }

    function plainBalanceOf(address owner) external view returns (uint256) {
        return IERC20(address(answerer)).balanceOf(owner);
    }

    function balanceOf(address owner) external view returns (uint256) {
        return TokenTransfer.balanceOf(address(answerer), owner);
    }

    function compareSplit(bytes calldata signature) external pure {
        (bytes32 r, bytes32 s, uint8 v) = Signature.split(signature);
        vm.assertEq(r, bytes32(signature[0:32]), "r");
        vm.assertEq(s, bytes32(signature[32:64]), "s");
        vm.assertEq(uint256(v), uint256(uint8(signature[64])), "v");
    }

    function plainCall(address token, bytes memory data) private returns (bool) {
        (bool success, bytes memory answer) = token.call(data);
        if (!success) return false;
        if (answer.length == 0) return token.code.length != 0;
        return answer.length >= 32 && abi.decode(answer, (uint256)) == 1;
    }
}
