using Voron.Format;
using Voron.Paging;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.Kinds;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>Copies the remains of the trees to a new environment.</summary>
/// <remarks>
/// <code>
///   catalog ─▶ each tree from its root ─▶ nothing missing: the end
///                                      └▶ all other pages ─▶ leaves of the catalog: their trees ─▶ other leaves, the newest first:
///                                           to the tree of their id, where a lost range has room for them; else to lost+found
/// </code>
/// </remarks>
internal sealed unsafe partial class Extraction : ITreeWalkHost, IDisposable
{
    /// <summary>The prefix of the names of trees whose own names or tables are lost.</summary>
    public const string LostAndFound = "lost+found";

    /// <summary>The mark of the pages of the catalog, whose tree id is 0.</summary>
    private const uint CatalogMark = 1;

    private readonly SalvagePages _pages;
    private readonly ISalvageTarget _target;
    private readonly SalvageOptions _options;
    private readonly SalvageGrade _reached;
    private readonly CancellationToken _stop;
    private readonly PageBitmap _owned;
    private readonly ValueSource _value;
    private readonly SetSource _set;
    private readonly TreeWalk _walk;
    private readonly List<TreeFindings> _trees = [];
    private readonly Dictionary<uint, TreeFindings> _treesById = [];
    private readonly HashSet<string> _names = new(StringComparer.Ordinal);
    private readonly Dictionary<(uint Mark, long Root, TreeForm Form), TreeFindings> _lostTrees = [];
    private readonly Queue<TreeFindings> _unwalked = [];
    private readonly TreeFindings _catalog;
    private readonly DamageList _ofStale = new();
    private TreeFindings? _tree;
    private SalvageGrade _grade;
    private bool _isOrphan;

    /// <param name="pages">The pages.</param>
    /// <param name="target">Receives the entries.</param>
    /// <param name="options">Which entries to take.</param>
    /// <param name="isProven">True if the pages are as of one state.</param>
    /// <param name="stop">Ends the work.</param>
    public Extraction(SalvagePages pages, ISalvageTarget target, SalvageOptions options, bool isProven, CancellationToken stop)
    {
        (_pages, _target, _options, _stop) = (pages, target, options, stop);
        _reached = isProven ? SalvageGrade.Proven : SalvageGrade.Current;
        _owned = new PageBitmap(pages.Capacity);
        _owned.EnsureCommitted(pages.Capacity);
        _value = new ValueSource(pages, _owned, _dictionaries);
        _set = new SetSource(pages, _owned, target, stop);
        _walk = new TreeWalk(pages, _owned, this);
        _catalog = new TreeFindings("", pages.State.Catalog, 0);
    }

    /// <summary>The trees that have been found.</summary>
    public IReadOnlyList<TreeFindings> Trees => _trees;

    /// <summary>The number of catalog trees that are not copied: dropped ones, and those of change feeds and of dictionaries.</summary>
    public int TreesLeftBehind { get; private set; }

    /// <summary>The findings about the catalog.</summary>
    public TreeFindings Catalog => _catalog;

    /// <summary>Takes all entries that can be found.</summary>
    /// <exception cref="OperationCanceledException">The salvage was cancelled.</exception>
    public void Run()
    {
        WalkFromRoot();
        if (_options.IncludeStale || _reached != SalvageGrade.Proven || _catalog.IsIncomplete || _trees.Exists(tree => tree.IsIncomplete))
            TakeOrphans();
    }

    /// <summary>Takes the entries that are reachable from the root of the catalog.</summary>
    /// <exception cref="OperationCanceledException">The salvage was cancelled.</exception>
    public void WalkFromRoot()
    {
        Enter(null, _reached, isOrphan: false);
        if (_pages.State.Catalog.RootPage != 0)
            _walk.Run(_pages.State.Catalog.RootPage, CatalogMark, _stop);
        WalkTrees(_reached);
    }

    void ITreeWalkHost.TakeLeaf(byte* leaf)
    {
        if (_tree == null && ((PageHeader*)leaf)->Kind != PageKind.Leaf)
            _catalog.Lose(new LostKeys(null, null, ((PageHeader*)leaf)->PageNumber, "It is a page of a tree of another kind, not of the catalog."));
        else if (_tree == null)
            TakeNames(leaf);
        else
            TakeEntries(leaf);
    }

    void ITreeWalkHost.Lose(LostKeys range) => (_tree ?? _catalog).Lose(_isOrphan ? range with { IsRoom = false } : range);

    public void Dispose()
    {
        _walk.Dispose();
        _value.Dispose();
        _set.Dispose();
        _owned.Dispose();
    }

    private void Enter(TreeFindings? tree, SalvageGrade grade, bool isOrphan) => (_tree, _grade, _isOrphan) = (tree, grade, isOrphan);

    private void EnterInTarget(TreeFindings tree, TreeForm form)
    {
        if (tree.SystemName is { } name)
            _target.EnterSystemTree(name, form);
        else
            _target.EnterTree(tree.Name, form);
    }

    private void TakeNames(byte* leaf)
    {
        for (var i = 0; i < SlottedPage.Count(leaf); i++)
        {
            var record = SlottedPage.Record(leaf, i);
            var name = LeafPage.Key(record);
            try
            {
                if (LeafPage.Kind(record) != ValueKind.Inline)
                    throw new CorruptionException($"The catalog entry of tree {KeyText.Of(name)} is not a header of a tree.");
                var value = new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record));
                var header = Voron.Trees.Catalog.ToHeader(name, value, uint.MaxValue, _pages.PageSize, "");
                if (SystemTree.IsDropped(name) || SystemTree.IsOfFeeds(name))
                    AddLeftBehind(name, header);
                else if (SystemTree.IsDictionaries(name))
                    AddDictionaries(name, header);
                else if (SystemTree.IsLargeSets(name))
                    AddTree($"{LostAndFound}/large-sets-{SystemTree.LargeSetsOf(name)}", systemName: null, header, SystemTree.LargeSetsOf(name));
                else if (SystemTree.IsOfTables(name))
                    AddSystemTree(name, header);
                else
                    AddTree(Voron.Trees.Catalog.Decode(name), systemName: null, header);
            }
            catch (CorruptionException e)
            {
                _catalog.LoseValue(name, LeafPage.InlineLength(record), e.Message);
            }
        }
    }

    private void AddSystemTree(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        if (header.Kind != SystemTree.Kind(name))
            throw new CorruptionException($"The {SystemTree.Describe(name)} is of another kind in its header.");
        AddTree(SystemTree.Describe(name), name.ToArray(), header);
    }

    private void AddTree(string shownName, byte[]? systemName, in TreeHeader header, uint? largeSetsOf = null)
    {
        _catalog.Count(_grade);

        // No user-defined name can contain half of a surrogate pair.
        if (!_names.Add(systemName == null ? shownName : '\ud800' + shownName))
            return;
        var tree = new TreeFindings(shownName, header, header.TreeId) { SystemName = systemName, LargeSetsOf = largeSetsOf };
        _trees.Add(tree);
        _treesById.TryAdd(header.TreeId, tree);
        _unwalked.Enqueue(tree);
    }

    // A dropped tree, or a tree of feeds, whose positions mean nothing in another environment: it is walked so that its pages are not found as lost
    // ones, but nothing of it is taken.
    private void AddLeftBehind(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        _catalog.Count(_grade);
        var tree = new TreeFindings(SystemTree.Describe(name), header, header.TreeId) { IsLeftBehind = true };
        if (!_treesById.TryAdd(header.TreeId, tree))
            return;
        TreesLeftBehind++;
        _unwalked.Enqueue(tree);
    }

    private void WalkTrees(SalvageGrade grade)
    {
        while (_unwalkedDictionaries.TryDequeue(out var tree) || _unwalked.TryDequeue(out tree))
        {
            Enter(tree, grade, isOrphan: false);
            if (!tree.IsLeftBehind)
                EnterInTarget(tree, tree.Form);
            if (tree.Header!.Value.RootPage is var root && root != 0)
                _walk.Run(root, tree.TreeId!.Value + 1, _stop);
        }
    }

    private void TakeOrphans()
    {
        using var census = new PageCensus(_pages, _owned);
        census.Take(_options.IncludeStale, _stop);
        using var page = new PageBuffer(_pages.PageSize);
        TakeCatalog(census, census.Roots(), page, leavesOnly: false);

        // Catalog leaves that a branch names, but for keys other than those they contain.
        TakeCatalog(census, census.Rest(), page, leavesOnly: true);
        TakeOrphanedDictionaries(census, census.Roots(), page);
        TakeOrphanedDictionaries(census, census.Rest(), page);
        WalkTrees(SalvageGrade.Current);
        TakeOrphans(census, census.Roots(), page);
        TakeOrphans(census, census.Rest(), page);
    }

    private void TakeCatalog(PageCensus census, IEnumerable<long> roots, PageBuffer page, bool leavesOnly)
    {
        foreach (var root in roots)
        {
            if (!census.TryRead(root, page.Bytes, out var grade) || grade != SalvageGrade.Current || page.Header->TreeMark != CatalogMark
                || (leavesOnly && page.Header->Kind != PageKind.Leaf))
                continue;
            Enter(null, SalvageGrade.Current, isOrphan: true);
            _walk.Run(root, CatalogMark, _stop);
        }
    }

    // The newest first, so that its entries win.
    private void TakeOrphans(PageCensus census, IEnumerable<long> roots, PageBuffer page)
    {
        var found = new List<(long Version, long Page)>();
        foreach (var root in roots)
        {
            if (census.TryRead(root, page.Bytes, out _))
                found.Add((page.Header->TransactionId, root));
        }

        found.Sort((one, other) => PlantedFault.PreferOlder ? one.CompareTo(other) : other.CompareTo(one));
        foreach (var (_, root) in found)
        {
            _stop.ThrowIfCancellationRequested();
            // A page of a set stores only a hash of its key: without the leaf that contains the key, it belongs nowhere.
            if (!_owned.IsSet(root) && census.TryRead(root, page.Bytes, out var grade) && page.Header->OwnerHash == 0)
                TakeOrphan(root, page, grade);
        }
    }

    private void TakeOrphan(long root, PageBuffer page, SalvageGrade grade)
    {
        var mark = page.Header->TreeMark;
        var tree = mark != 0 && _treesById.TryGetValue(mark - 1, out var known) ? known : LostTree(mark, root, FormOf(page, grade));
        Enter(tree, grade, isOrphan: true);
        if (grade == SalvageGrade.Current)
        {
            _walk.Run(root, mark, _stop);
            return;
        }

        // The children of a stale branch may have been overwritten.
        _owned.Set(root);
        if (!TreePageView.IsLeaf(page.Bytes) || mark == CatalogMark)
            return;

        // The places of its values may have been reused by now, which is not damage.
        var damage = _pages.Damage;
        _pages.Damage = _ofStale;
        try
        {
            TakeEntries(page.Bytes);
        }
        finally
        {
            _pages.Damage = damage;
        }
    }

    // The leaves of a tree show its kind. A current branch is read again by its walk.
    private TreeForm FormOf(PageBuffer page, SalvageGrade grade)
    {
        for (var level = 0; level < StateStructure.MaxDepth && !TreePageView.IsLeaf(page.Bytes); level++)
        {
            if (grade != SalvageGrade.Current || !TreePageView.IsOfTree(page.Header->Kind)
                || _pages.TryRead(TreePageView.Child(page.Bytes, 0, _pages.PageSize), page.Bytes) != null)
                return default;
        }

        return TreePageView.IsOfTree(page.Header->Kind) ? TreePageView.Form(page.Bytes) : default;
    }

    private TreeFindings LostTree(uint mark, long root, TreeForm form)
    {
        if (_lostTrees.TryGetValue((mark, mark == 0 ? root : 0, form), out var lost))
            return lost;
        var name = mark == 0 ? $"{LostAndFound}/page-{root}" : $"{LostAndFound}/tree-{mark - 1}";
        while (!_names.Add(name))
            name += "~";
        lost = new TreeFindings(name, null, mark == 0 ? null : mark - 1) { Form = form };
        _lostTrees[(mark, mark == 0 ? root : 0, form)] = lost;
        _trees.Add(lost);
        return lost;
    }

    private void TakeEntries(byte* leaf)
    {
        var tree = _tree!;
        if (tree.HasDictionaries)
            TakeDictionaries(leaf, long.MaxValue);
        if (tree.IsLeftBehind)
            return;
        var header = (PageHeader*)leaf;
        var form = TreePageView.Form(leaf);
        LostKeys? room = null;
        if (_isOrphan && tree.Header != null)
        {
            var last = TreePageView.Count(leaf) - 1;
            room = tree.FindRoom(TreePageView.Key(leaf, 0, _pages.PageSize), TreePageView.Key(leaf, last, _pages.PageSize));
            if ((room == null || _grade == SalvageGrade.Stale) && !PlantedFault.BelieveOrphans)
                (tree, room) = (LostTree(tree.TreeId!.Value + 1, 0, form), null);
        }

        // The leaves of a lost tree show its kind; a leaf of another kind than its tree is misplaced.
        if (tree.Form != form)
            (tree, room) = (LostTree(header->TreeMark, header->PageNumber, form), null);
        EnterInTarget(tree, form);
        if (PageForm.Find(header->Kind) is { HasReferences: false } pages)
        {
            TakeInlineEntries(tree, leaf, pages, room);
            return;
        }

        for (var i = 0; i < TreePageView.Count(leaf); i++)
        {
            if (form.Kind == TreeKind.IdSets)
                TakeSet(tree, SlottedPage.Record(leaf, i), header->TreeMark, room);
            else
                TakeEntry(tree, SlottedPage.Record(leaf, i), header->TransactionId, room);
        }
    }

    private void TakeInlineEntries(TreeFindings tree, byte* leaf, PageForm pages, LostKeys? room)
    {
        for (var i = 0; i < TreePageView.Count(leaf); i++)
        {
            _value.Open(pages.Value(leaf, _pages.PageSize, i, out var length), length);
            if (_target.TakesValues && !_target.TryAdd(TreePageView.Key(leaf, i, _pages.PageSize), _value, out _))
            {
                tree.CountSuperseded();
                continue;
            }

            tree.Count(_grade);
            if (room != null)
                room.Found++;
        }
    }

    private void TakeEntry(TreeFindings tree, byte* record, long version, LostKeys? room)
    {
        var key = LeafPage.Key(record);
        if (!_target.TakesValues)
        {
            tree.Count(_grade);
            return;
        }

        var fault = _value.TryOpen(record, _grade == SalvageGrade.Proven ? long.MaxValue : version, tree.TreeId);
        if (fault == null && !_target.TryAdd(key, _value, out fault))
        {
            tree.CountSuperseded();
            return;
        }

        if (fault != null && _grade == SalvageGrade.Stale)
        {
            tree.CountSuperseded();
            return;
        }

        if (fault != null)
        {
            tree.LoseValue(key, _value.Length, fault);
            return;
        }

        tree.Count(_grade);
        if (room != null)
            room.Found++;
    }

    private void TakeSet(TreeFindings tree, byte* record, uint treeMark, LostKeys? room)
    {
        var key = LeafPage.Key(record);
        if (_target.TakesValues && !_target.TryBeginSet(key))
        {
            tree.CountSuperseded();
            return;
        }

        var fault = _set.Copy(record, treeMark, _grade == SalvageGrade.Stale);
        if (fault != null && _grade == SalvageGrade.Stale)
        {
            tree.CountSuperseded();
            return;
        }

        if (fault != null)
            tree.LoseValue(key, (_set.Claimed - _set.Taken) * SetSource.BytesPerId, $"{_set.Taken} of its {_set.Claimed} ids were found: {fault}");
        if (_set.Taken == 0)
            return;
        tree.Count(_grade);
        if (room != null)
            room.Found++;
    }
}
