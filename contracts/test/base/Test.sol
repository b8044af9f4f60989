// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PayoutVault} from "../../src/PayoutVault.sol";
import {Vm} from "./Vm.sol";

/// @notice What every test needs: cheat codes, named accounts, bounded fuzz values and signatures.
abstract contract Test {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 internal constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    bool public IS_TEST = true;

    /// @notice Forge compiles tests without the optimizer. So `new` gives a contract other code than its deployments have.
    function deploy(string memory name, bytes memory arguments) internal returns (address) {
        return vm.deployCode(artifactOf(name), arguments);
    }

    /// @notice What the compiler's deployment settings make of a contract.
    function artifactOf(string memory name) internal pure returns (string memory) {
        return string.concat("out/", name, ".sol/", name, ".json");
    }

    /// @notice A vault that its controller has set up.
    function newVault(address controller_, address signer_, address settler_, address guardian_)
        internal
        returns (PayoutVault made)
    {
        made = PayoutVault(deploy("PayoutVault", abi.encode(controller_)));
        vm.startPrank(controller_);
        made.setSigner(signer_, true);
        made.setSettler(settler_, true);
        made.setGuardian(guardian_);
        made.unpause();
        vm.stopPrank();
    }

    function keyOf(string memory name) internal pure returns (uint256) {
        return uint256(keccak256(bytes(name))) % (CURVE_ORDER - 1) + 1;
    }

    function account(string memory name) internal returns (address named) {
        named = vm.addr(keyOf(name));
        vm.label(named, name);
    }

    /// @notice A value from `low` to `high`, both included; the ends come up far oftener than by chance.
    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        if (value >= low && value <= high) return value;
        uint256 size = high - low + 1;
        if (size == 0) return value;
        if (value % 16 == 0) return low;
        if (value % 16 == 1) return high;
        return low + uint256(keccak256(abi.encode(value))) % size;
    }

    /// @notice The `index`-th independent value that `seed` gives.
    function pick(uint256 seed, uint256 index) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, index)));
    }

    function signDigest(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    /// @notice The same signature with the mirrored s and the other v: valid to a careless verifier.
    function mirror(bytes memory signature) internal pure returns (bytes memory) {
        (bytes32 r, uint256 s, uint8 v) = split(signature);
        return abi.encodePacked(r, CURVE_ORDER - s, v == 27 ? uint8(28) : uint8(27));
    }

    function split(bytes memory signature) internal pure returns (bytes32 r, uint256 s, uint8 v) {
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
    }

    /// @notice Code that answers nothing to a call with `amount` of gas or, unless `exact`, with more, and reverts
    /// otherwise.
    function gasGate(uint24 amount, bool exact) internal pure returns (bytes memory) {
        // GAS, which has cost 2 of it already; PUSH3; XOR or GT; to the JUMPDEST, or STOP; JUMPDEST; REVERT.
        bytes1 refuses = exact ? bytes1(0x18) : bytes1(0x11);
        return abi.encodePacked(hex"5a62", amount - 2, refuses, hex"600a57005b5f5ffd");
    }

    /// @notice Makes a call and passes its revert on, for calldata that no typed call could make.
    function callRaw(address target, bytes memory data) internal returns (bool success, bytes memory answer) {
        (success, answer) = target.call(data);
    }

    function expectError(bytes4 selector) internal {
        vm.expectRevert(abi.encodeWithSelector(selector));
    }
}
