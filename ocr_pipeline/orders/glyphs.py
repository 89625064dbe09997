"""Chinese glyphs and the Japanese ones that they are read for.

PP-OCR knows the characters of all of East Asia and mixes the forms of one character up: 単 is read
as 单, 産 as 產. A glyph that no Japanese character set holds cannot have been printed on a Japanese
form, so it can be turned back without looking at its neighbours.
"""

from __future__ import annotations

_PAIRS = """
    产産 產産 单単 额額 稅税 费費 电電 话話 码碼 订訂 购購 货貨 务務 财財 账帳 债債 贩販 卖売 买買
    贸貿 资資 质質 贺賀 贵貴 责責 贡貢 败敗 贤賢 贯貫 赁賃 贷貸 贮貯 赔賠 赖頼 赠贈 赞賛 页頁 顶頂
    项項 顺順 须須 顾顧 顿頓 颁頒 预預 领領 频頻 题題 颜顔 类類 风風 飞飛 饭飯 饮飲 饰飾 馆館 马馬
    驱駆 驻駐 驿駅 骏駿 验験 骑騎 鱼魚 鸟鳥 鸣鳴 鸭鴨 鹤鶴 黃黄 齐斉 齿歯 龙竜 龟亀 门門 闭閉 问問
    间間 闲閑 闻聞 阀閥 阁閣 阅閲 阔闊 队隊 阳陽 阴陰 阶階 际際 陆陸 险険 隐隠 难難 雾霧 韩韓 响響
    铁鉄 铜銅 银銀 铅鉛 钢鋼 针針 钉釘 钩鉤 锁鎖 锅鍋 锻鍛 锭錠 键鍵 锋鋒 错錯 锡錫 镜鏡 铃鈴 铸鋳
    铭銘 锐鋭 锤錘 锥錐 镇鎮 铺舗 铣銑 锯鋸 镀鍍 钝鈍 钱銭 长長 张張 场場 块塊 坚堅 执執 扩拡 扫掃
    扬揚 择択 拥擁 拟擬 挥揮 损損 换換 掷擲 搅撹 摄摂 敌敵 时時 显顕 晓暁 暂暫 术術 杂雑 权権 杨楊
    极極 构構 枪槍 枫楓 标標 栈桟 栋棟 栏欄 树樹 样様 桥橋 检検 欢歓 毁毀 毕畢 汉漢 汤湯 沟溝 泽沢
    洁潔 测測 济済 浓濃 涂塗 润潤 涡渦 渐漸 渔漁 溫温 满満 滤濾 滨浜 滩灘 灭滅 灵霊 炼錬 热熱 烧焼
    爱愛 牵牽 狀状 猎猟 环環 现現 畅暢 疗療 盐塩 监監 盘盤 矿鉱 础礎 确確 离離 种種 积積 稳穏 穷窮
    竞競 笔筆 笼籠 简簡 紧緊 纠糾 纪紀 约約 级級 纤繊 纯純 纱紗 纲綱 纳納 纵縦 纷紛 纸紙 纹紋 纺紡
    线線 练練 组組 绅紳 细細 织織 终終 绍紹 经経 结結 绘絵 给給 络絡 绝絶 统統 继継 绩績 绪緒 续続
    维維 绵綿 绳縄 绿緑 缀綴 缓緩 编編 缘縁 缝縫 缩縮 罗羅 罚罰 罢罷 职職 聪聡 肃粛 胀脹 胁脅 胜勝
    胶膠 脑脳 脏臓 腾騰 舰艦 舱艙 节節 苏蘇 苍蒼 药薬 荣栄 荧蛍 莲蓮 获獲 营営 萨薩 蓝藍 虑慮 虛虚
    蚀蝕 虾蝦 蜡蝋 补補 见見 观観 规規 视視 览覧 觉覚 计計 认認 讨討 让譲 训訓 议議 讯訊 记記 讲講
    许許 论論 设設 访訪 证証 评評 识識 诉訴 诊診 词詞 译訳 试試 诗詩 诚誠 诞誕 该該 详詳 语語 误誤
    说説 请請 诸諸 读読 课課 谁誰 调調 谅諒 谈談 谋謀 谐諧 谓謂 谢謝 谦謙 谱譜 贝貝 负負 贞貞 贴貼
    赵趙 趋趨 跃躍 车車 轨軌 轩軒 转転 轮輪 软軟 轰轟 轴軸 轻軽 载載 较較 辅輔 辆輌 辈輩 辉輝 输輸
    辖轄 边辺 达達 迁遷 过過 运運 还還 进進 远遠 违違 连連 迟遅 适適 选選 递逓 遗遺 邮郵 邻隣 郑鄭
    酱醤 酿醸 释釈 业業 东東 丝糸 两両 严厳 丧喪 丰豊 临臨 为為 丽麗 举挙 义義 乌烏 乐楽 乔喬 习習
    乡郷 书書 亚亜 亲親 亿億 仅僅 仓倉 仪儀 优優 伞傘 伟偉 传伝 伤傷 伦倫 伪偽 侣侶 侦偵 侧側 俭倹
    倾傾 偿償 储儲 兰蘭 关関 兴興 养養 兽獣 內内 军軍 农農 冻凍 净浄 减減 凑湊 击撃 刘劉 则則 刚剛
    创創 别別 剂剤 剑剣 剧劇 劝勧 动動 劲勁 劳労 势勢 勋勲 华華 协協 卫衛 厅庁 历歴 压圧 县県 发発
    变変 叹嘆 启啓 吴呉 员員 唤喚 喷噴 团団 园園 围囲 图図 圆円 圣聖 坛壇 坟墳 坠墜 垒塁 垦墾 壳殻
    处処 备備 头頭 夺奪 奋奮 奖奨 妆粧 妇婦 娱娯 孙孫 宁寧 实実 审審 宫宮 宽寛 宾賓 对対 寻尋 导導
    尔爾 尘塵 层層 岁歳 岛島 岭嶺 币幣 帅帥 师師 带帯 庆慶 库庫 应応 庙廟 废廃 开開 异異 弹弾 强強
    归帰 录録 彻徹 忆憶 忧憂 怀懐 态態 总総 恶悪 悬懸 惊驚 惯慣 愤憤 戏戯 战戦 户戸 戶戸 扑撲 护護
    报報 抚撫 拨撥 捆梱 摇揺 晕暈 杀殺 查査 栅柵 棱稜 椭楕 沥瀝 浊濁 溃潰 烂爛 烦煩 烛燭 狮獅 狱獄
    皱皺 矫矯 砾礫 祸禍 祯禎 筛篩 纬緯 肠腸 肤膚 肾腎 肿腫 艺芸 诀訣 诈詐 诱誘 谊誼 贪貪 贫貧 赋賦
    赏賞 轧軋 辑輯 辽遼 逊遜 鉴鑑 钓釣 钦欽 钵鉢 铠鎧 锦錦 镰鎌 闪閃 阵陣 陈陳 雏雛 顽頑 颂頌 颇頗
    颊頬 颗顆 饥飢 饱飽 饵餌 饼餅 驰馳 骚騒 鲁魯 鲜鮮 鲤鯉 鲸鯨 鸠鳩 鸡鶏 鸿鴻 鹏鵬 鹰鷹 說説 銳鋭
    步歩 每毎 錄録 卽即 脫脱 閱閲 吳呉 娛娯 巢巣 姬姫 絕絶 歷歴 曆暦 緣縁 涉渉 值値 晚晩 渴渇 揭掲
    歲歳 彥彦 啟啓 尙尚 塡填 锈錆 赛賽 钟鐘 销銷 帐帳 竖竪
"""

CHINESE: dict[int, str] = str.maketrans({pair[0]: pair[1] for pair in _PAIRS.split()})
"""Glyph → Japanese form, ready for `str.translate`.

No key can be written in cp932 (JIS X 0208 and the IBM extensions), so 髙 﨑 邊 齋 齊 and every
other form that a Japanese name may really have is left alone. 侗 (for 個) and 捆 (for 梱) are
look-alikes, the rest are the simplified or traditional form of the same character.
"""

_OLD_PAIRS = """
    靜静 坏壊 挂掛 橫横 沒没 烟煙 盖蓋 窗窓 粮糧 脉脈 荐薦 从従 册冊 冲沖 决決 况況 凉涼 听聴 广広
    弃棄 无無 网網 迹跡 敎教 綠緑 悅悦 鄕郷 搖揺 僞偽 顏顔 黏粘 淸清 靑青 增増 德徳 寬寛 黑黒 价価
    夲本 顯顕 單単 價価 發発 會会 實実 總総 縣県 國国 學学 號号 檢検 圖図 爲為 眞真 鐵鉄 鑛鉱 變変
    數数 點点 壓圧 裝装 寫写 勞労 團団 對対 將将 萬万 廣広 應応 歸帰 氣気 澤沢 濱浜 燒焼 營営 當当
    獨独 禮礼 稱称 經経 繼継 續続 聲声 與与 舊旧 藥薬 處処 觸触 讀読 轉転 輕軽 辭辞 遲遅 醫医 釋釈
    錢銭 關関 險険 隨随 雜雑 餘余 驗験 驛駅 體体 齒歯 个個
"""

OLD: dict[int, str] = str.maketrans({pair[0]: pair[1] for pair in _OLD_PAIRS.split()})
"""Old and simplified forms that cp932 does hold: merged when texts are compared, never repaired."""

_OLD_WORDS = """
    單価>単価 單價>単価 単價>単価 単价>単価 單位>単位 單品>単品 發注>発注 發行>発行 發送>発送
    價格>価格 价格>価格 定价>定価 原价>原価 數量>数量 總額>総額 總計>総計 總合>総合 點数>点数
    點検>点検 圖面>図面 圖番>図番 變更>変更 檢査>検査 檢収>検収 經費>経費 處理>処理 决済>決済
    决定>決定 状况>状況 无償>無償 變圧>変圧 燒入>焼入 鐵板>鉄板 裝置>装置
"""

OLD_FORMS: dict[str, str] = dict(pair.split(">") for pair in _OLD_WORDS.split())
"""Words in a form that a Japanese character set does hold, but that no form prints today.

Single characters of this sort are left alone: 單, 會 and 黑 stand in registered names.
"""
