// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A stand-in for Ethereum's USDT on development chains
/// @notice As there: 6 decimals, `transfer`, `transferFrom` and `approve` return nothing, an allowance can only be
/// changed by way of zero, blocklist, pause, no permit, and a transfer fee that lies dormant at zero.
contract LocalUsdt {
    uint256 private constant MAX_BASIS_POINTS = 20;

    string public name;
    string public symbol;
    uint8 public constant decimals = 6;
    address public immutable minter;
    uint256 public totalSupply;
    uint256 public basisPointsRate;
    bool public paused;

    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Issue(uint256 amount);
    event Params(uint256 feeBasisPoints);
    event AddedBlackList(address account);
    event RemovedBlackList(address account);
    event Pause();
    event Unpause();

    constructor(string memory name_, string memory symbol_, address minter_) {
        (name, symbol, minter) = (name_, symbol_, minter_);
    }

    modifier onlyMinter() {
        require(msg.sender == minter);
        _;
    }

    /// @notice Creates tokens for the minter, who passes them on.
    function issue(uint256 amount) external onlyMinter {
        totalSupply += amount;
        balanceOf[minter] += amount;
        emit Issue(amount);
        emit Transfer(address(0), minter, amount);
    }

    /// @notice Wakes the fee: basis points that each transfer loses to the minter.
    function setParams(uint256 feeBasisPoints) external onlyMinter {
        require(feeBasisPoints <= MAX_BASIS_POINTS);
        basisPointsRate = feeBasisPoints;
        emit Params(feeBasisPoints);
    }

    function addBlackList(address account) external onlyMinter {
        isBlackListed[account] = true;
        emit AddedBlackList(account);
    }

    function removeBlackList(address account) external onlyMinter {
        isBlackListed[account] = false;
        emit RemovedBlackList(account);
    }

    function pause() external onlyMinter {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyMinter {
        paused = false;
        emit Unpause();
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function transfer(address to, uint256 value) external {
        _transfer(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
    }

    /// @dev As the original, which checks the sender of the tokens and not their receiver.
    function _transfer(address from, address to, uint256 value) private {
        require(!paused && !isBlackListed[from]);
        uint256 fee = value * basisPointsRate / 10_000;
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        emit Transfer(from, to, value - fee);
        if (fee != 0) {
            balanceOf[minter] += fee;
            emit Transfer(from, minter, fee);
        }
    }
}
